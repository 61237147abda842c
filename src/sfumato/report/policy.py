"""The content security policy of our pages: nothing is loaded, nothing is sent, and no script runs but those that we wrote.

Names and values in a page come from the data, perhaps from a stranger. They are escaped; the policy is the second wall. Scripts are
allowed by the hash of their very text, and none may make code of a text, so that Vega reads its expressions by its interpreter
(`ast: true`). Styles may stand in the page, since Vega writes them; with no address to fetch from, they can tell nobody anything.
"""

from __future__ import annotations

import base64
import hashlib


def policy(*scripts: str) -> str:
    """The meta element for a page with these inline scripts, each as it stands between its tags."""
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{each}'" for each in hashes) or "'none'"
    rules = (
        "default-src 'none'",
        f"script-src {allowed}",
        "style-src 'unsafe-inline'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">'
