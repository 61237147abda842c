"""What a column's name tells, in several languages: a compact lexicon, and secondary evidence only.

A concept has a role and a sentence that says why. Words are lower case without accents: English, German, French,
Spanish, Italian, Portuguese, Dutch, and a few in Chinese. The head of the name decides: in `age_at_diagnosis` it is
age, in `salary-class` salary.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from ..core.noun import dataclass
from ..core.people import BETWEEN, OFFICIAL, PEOPLE, numbers_households, numbers_people, tokens, words_of

__all__ = ["CONCEPTS", "EVENT", "HOUSEHOLD", "NAME", "NUMBER", "Concept", "Role", "concept", "tokens"]

Role = Literal["identifiers", "quasi", "sensitive", "insensitive", "person", "household", "weight"]


@dataclass(frozen=True)
class Concept:
    """A thing that columns are named after."""

    key: str
    role: Role
    why: str
    words: frozenset[str]


def _concept(key: str, role: Role, why: str, words: str) -> Concept:
    return Concept(key, role, why, words_of(words))


NUMBER = _concept("person", "identifiers", "its name says that it numbers people", "")
HOUSEHOLD = _concept(
    "household", "identifiers", "its name says that it numbers households, which hide nobody in a larger crowd", ""
)
EVENT = _concept(
    "event", "quasi", "people nearby know when something happened to a person",
    """date time datetime timestamp day month year admission discharge visit arrival departure death hired joined enrolled
    enrolment enrollment datum zeit eintritt austritt einstellung aufnahme entlassung embauche entree sortie fecha ingreso alta
    dataora ricovero dimissione jour mois annee dia mes ano datumtijd opname ontslag 日期 时间""",
)  # fmt: skip
NAME = _concept(
    "name", "identifiers", "its name says that it names people",
    """surname lastname firstname fullname forename familyname givenname maidenname middlename nickname nachname vorname
    familienname prenom apellido apellidos cognome sobrenome achternaam voornaam 姓名 名字""",
)  # fmt: skip
CONCEPTS = (
    NAME,
    _concept(
        "contact", "identifiers", "its name says that it can be used to contact people",
        """email mail phone telephone tel mobile fax address street telefon telefono telefone telefoon courriel correo
        adresse anschrift direccion indirizzo endereco adres strasse rue calle rua straat 电话 邮箱 地址 手机""",
    ),
    Concept("official", "identifiers", "its name says that it is an official number of a person", OFFICIAL),
    _concept(
        "online", "identifiers", "its name says that it identifies a device or an account",
        "ip ipaddress username login url website homepage imei macaddress deviceid cookie accountid",
    ),
    _concept(
        "biometric", "identifiers", "its name says that it shows a person's body",
        "photo portrait fingerprint signature biometric voiceprint iris",
    ),
    _concept(
        "birth", "quasi", "many registers hold the date or place of birth, and it rarely changes",
        """birth birthday birthdate birthyear dateofbirth dob yob born geburt geburtsdatum geburtsjahr geb gebdatum gebdat gebjahr geburtstag naissance nacimiento
        nascita nascimento geboorte geboortedatum geboortejaar 出生 生日""",
    ),
    _concept(
        "age", "quasi", "acquaintances and registers know a person's age",
        "age ages agegroup alter altersgruppe edad eta idade leeftijd 年龄",
    ),
    _concept(
        "sex", "quasi", "everyone who knows a person knows it",
        "sex gender geschlecht sexe sexo sesso genero genere geslacht 性别",
    ),
    _concept(
        "postal", "quasi", "where a person lives is widely known and recorded in many registers",
        """zip zipcode postal postalcode postcode plz postleitzahl codepostal codigopostal cep 邮编""",
    ),
    _concept(
        "place", "quasi", "where a person lives or comes from is widely known and recorded in many registers",
        """city town village municipality county district region state province country nation neighborhood neighbourhood
        area location residence place wohnort ort stadt gemeinde landkreis bundesland staat ville commune departement
        pays ciudad municipio provincia pais citta comune regione paese cidade concelho estado gemeente plaats stad
        latitude longitude lat lon lng gps coordinates 城市 地区 国家 省""",
    ),
    _concept(
        "origin", "quasi", "everyone who meets the person sees or hears it, although laws may also protect it",
        """race ethnicity ethnic nationality citizenship origin ancestry language migrant immigrant staatsangehorigkeit
        herkunft sprache nationalite langue nacionalidad origen idioma nazionalita cittadinanza lingua nacionalidade
        nationaliteit herkomst 民族 国籍""",
    ),
    _concept(
        "family", "quasi", "family, friends and registers know it",
        """marital married spouse children household family relationship relation civilstatus siblings dependents
        familienstand kinder haushalt etatcivil matrimonial enfants menage famille estadocivil hijos hogar familia
        statocivile figli famiglia filhos huishouden kinderen burgerlijkestaat 婚姻 家庭""",
    ),
    _concept(
        "work", "quasi", "colleagues, classmates and public profiles reveal it",
        """education school schooling degree university occupation job profession employer employment work workclass
        industry sector hours rank parttime fulltime overtime worktime workingtime teilzeit vollzeit arbeitszeit tempspartiel
        tempsplein tempsdetravail deeltijd voltijd beruf bildung ausbildung schule schulabschluss arbeit arbeitgeber formation emploi
        metier profession diplome educacion estudios trabajo ocupacion profesion lavoro professione occupazione istruzione
        titolostudio ocupacao profissao escolaridade trabalho opleiding beroep werk 职业 学历 教育 工作""",
    ),
    _concept(
        "body", "quasi", "everyone who meets the person can see or guess it",
        "height stature hair eyes skin bodyweight grosse taille estatura altezza altura lengte 身高",
    ),
    EVENT,
    _concept(
        "health", "sensitive", "its name says that it is about a person's health",
        """diagnosis diagnoses diag dx drg msdrg icd9 icd11 disease illness health icd icd10 condition symptom symptoms treatment therapy medication drug
        drugs hiv cancer tumor blood bloodpressure glucose cholesterol bmi disability pregnancy pregnant mental psychiatric
        surgery medical allergy dose dosage vaccination vaccinated sick sickness sickdays sickleave infection infected covid
        hepatitis diabetes diabetic asthma epilepsy dementia depression autism adhd dyslexia addiction alcohol smoker smoking suicide
        prescription prescriptions comorbidity comorbidities pathology prognosis impairment diagnose krankheit krank krankentage krankenstand
        krankschreibung gesundheit behandlung medikament medikation befund impfung schwanger schwangerschaft behinderung
        atc pzn ndc wirkstoff wirkstoffe arzneimittel schwerbehindert schwerbehinderung pflegegrad pflegestufe maladie sante diagnostic traitement grossesse enceinte vaccin
        ordonnance arretmaladie handicap enfermedad salud diagnostico tratamiento discapacidad malattia salute diagnosi terapia
        disabilita doenca saude tratamento barthel barthelindex beatmung beatmungsstunden beatmungsdauer ventilation glasgow gcs apgar asa nyha icu intensivstation ziekte gezondheid behandeling aandoening klacht klachten medicatie zwanger
        allergie symptome symptomes sintomas sintomi blutdruck blutzucker bloeddruk bloedsuiker glykamie nebendiagnose hauptdiagnose 诊断 疾病 健康 病""",
    ),
    _concept(
        "outcome", "sensitive", "its name says how it went for a person, which nobody may learn from the release",
        """outcome outcomes disposition dischargedisposition dischargereason entlassgrund entlassungsgrund entlassungsart entlassart motivosortie modedesortie mort default defaultpayment defaultpaymentnextmonth severity schweregrad mortality died deceased survival survived complication complications komplikation komplikationen
        relapse remission readmission readmitted recovered response responder defaulted churn churned verlauf ergebnis issue resultat
        gravite gravedad gravita gravidade ernst triage exitus overleden decede fallecido deceduto obito verstorben uberlebt ruckfall heilung""",
    ),
    _concept(
        "laboratory", "sensitive", "its name says that it was measured in a laboratory or on a patient",
        """lab labs laboratory labor laborwert laborwerte crp creatinine kreatinin hba1c hemoglobin haemoglobin hamoglobin leukocytes leukozyten
        thrombozyten platelets sodium natrium potassium kalium triglycerides ldl hdl troponin systolic diastolic heartrate puls pulse""",
    ),
    _concept(
        "money", "sensitive", "its name says that it is about a person's money",
        """income salary wage wages earnings pay debt debts loan loans credit creditscore balance wealth capital pension bonus benefit
        benefits arrears overdue owed owing unpaid mortgage rent tax taxes insolvency insolvent bankruptcy bankrupt eviction
        einkommen gehalt lohn schulden vermogen rente miete steuer steuerklasse ruckstand ruckstande mahnung mahnstufe zahlungsverzug
        insolvenz pfandung revenu revenus salaire dette dettes impaye impayes arrieres loyer impot impots surendettement faillite ingresos salario renta sueldo deuda reddito
        stipendio debito renda rendimento inkomen salaris loon schuld 收入 工资 薪""",
    ),
    _concept(
        "need", "sensitive", "its name says that it is about the help a person needs or gets",
        """needs specialneeds sen support allowance allowances welfare assistance aid subsidy subsidies freemeals freeschoolmeals
        freelunch scholarship bursary fostercare childprotection carelevel careplan pflegegrad pflegestufe forderbedarf forderung unterstutzung beihilfe
        zuschuss sozialhilfe grundsicherung burgergeld wohngeld arbeitslosengeld kinderzuschlag jugendhilfe besoins aide aides
        allocation allocations bourse soutien prestations rsa ayuda necesidades beca sussidio sostegno subsidio apoio uitkering
        toeslag bijstand""",
    ),
    _concept(
        "conduct", "sensitive", "its name says that it is about absences or penalties",
        """absence absences absent absenteeism truancy suspension suspended exclusion excluded expulsion expelled detention
        disciplinary fehltage fehlzeiten fehlstunden abmahnung verweis sanction sanctions renvoi""",
    ),
    _concept(
        "status", "sensitive", "its name says that it is about a person's legal status",
        """asylum refugee undocumented residencepermit immigrationstatus deportation guardianship asyl aufenthaltstitel
        aufenthaltsstatus fluchtling abschiebung asile refugie titredesejour tutelle curatelle""",
    ),
    _concept(
        "belief", "sensitive", "its name says that it is about what a person believes or votes for",
        """religion relig religious denomination faith church belief political politics party vote voted votes union tradeunion konfession kirche
        partei gewerkschaft parti syndicat croyance iglesia partido sindicato religione partito sindacato religiao igreja
        religie godsdienst partij vakbond 宗教 党派""",
    ),
    _concept(
        "intimate", "sensitive", "its name says that it is about a person's intimate life",
        "sexual sexuality orientation sexualorientation sexualitat orientierung sexualite orientacion orientamento",
    ),
    _concept(
        "crime", "sensitive", "its name says that it is about offences or convictions",
        """crime criminal offence offense conviction convicted arrest arrests sentence prison probation recidivism victim abuse violence
        opfer gewalt bewahrung victime straftat vorstrafe
        delit infraction condamnation delito condena reato condanna crimen crime delict strafblad 犯罪""",
    ),
    _concept(
        "genes", "sensitive", "its name says that it is about a person's genes",
        "gene genes genetic genotype dna genome snp haplotype genetik genetique genetico 基因",
    ),
    _concept(
        "weight", "weight",
        "its name says that it is a survey weight, which tells where and how people were sampled",
        """fnlwgt perwt hhwt pweight wgt wt sampleweight samplingweight surveyweight finalweight designweight personweight replicateweight
        hochrechnungsfaktor gewichtungsfaktor gewichtung hochrechnung hochrechnungsgewicht designgewicht erhebungsgewicht survwt sampwt finalwt designwt pondera stichprobengewicht poidssondage ponderation factorexpansion factorponderacion ponderador
        pesocampionario pesoamostral weegfactor steekproefgewicht 抽样权重""",
    ),
    _concept(
        "amount", "quasi", "whoever paid or was paid knows the amount, and an amount exact to the cent distinguishes people",
        """amount amounts price cost costs paid payment payments balance fee fees charge charges premium expense expenses spending
        revenue turnover rent bill bills billed billing invoice invoices amt betrag rechnung rechnungen rechnungsbetrag facture factura fattura betrage preis kosten zahlung saldo gebuhr pramie ausgaben miete montant prix cout paiement solde
        frais loyer importe precio coste costo pago gasto alquiler importo prezzo pagamento spesa affitto preco custo despesa aluguel
        bedrag prijs betaling uitgaven huur 金额 价格 费用""",
    ),
    _concept(
        "split", "insensitive", "its name says that it divides the rows for an analysis and says nothing about a person",
        "part fold split partition trainset testset subset cvfold",
    ),
)  # fmt: skip

_NAMES = words_of("name names nom nombre nome naam")
_PERSONAL = words_of("first last full family given maiden middle legal real contact") | PEOPLE


def known_as(name: str, label: str) -> str:
    """What a column is to be known by: its name, or what its file says of it where only that is telling."""
    return label if label and concept(name) is None and concept(label) is not None else name


@cache
def concept(name: str) -> Concept | None:
    """What a column is named after, or None if the lexicon does not say."""
    words = tokens(name)
    if not words:
        return None
    if known := _known("".join(words)):
        return known
    if numbers_people(words):
        return NUMBER
    if numbers_households(words):
        return HOUSEHOLD
    if set(words) & _NAMES and (len(words) == 1 or set(words) & _PERSONAL):
        return NAME
    cut = next((i for i, word in enumerate(words) if i and word in BETWEEN), len(words))
    for part in (words[:cut], words[cut:]):  # what stands before "of" or "at" is the head, else the last word
        for i in reversed(range(len(part))):
            joined = (
                _known("".join(part[max(i - before, 0) : i + 1])) for before in (3, 2, 1, 0)
            )  # HbA1c is four parts
            if known := next(filter(None, joined), None) or _compound(part[i]):
                return known
    return None


def _known(word: str) -> Concept | None:
    asian = not word.isascii()
    return next(
        (c for c in CONCEPTS if word in c.words or (asian and any(not w.isascii() and w in word for w in c.words))),
        None,
    )


def _compound(word: str) -> Concept | None:
    """A long word that begins or ends with a known one: `maritalstatus`, `Wohnadresse`."""
    if len(word) < 7:
        return None
    return next(
        (c for c in CONCEPTS for w in sorted(c.words) if len(w) > 4 and (word.startswith(w) or word.endswith(w))), None
    )
