"""The guided tour: what to do on each page, on a town of made-up people."""

from __future__ import annotations

ROWS = 3_000
"""How many people the tour's town has: a run takes about a minute."""
STOPS = {
    "/open": "This is how the file was read. In a table of your own, look whether the columns are named rightly, whether the last row is a "
    "total, and whether a code such as 999 stands for a missing value. Here nothing needs to be changed: go on to the columns.",
    "/columns": "Each column has a role. Names and numbers never leave the house; what neighbours know, such as age or postal code, can be put "
    "together to find a person; diagnosis and income nobody may learn. Change the role of occupation, and see how many rows are alone then.",
    "/hierarchies": "An age can be told by 5 or by 20 years, a postal code by fewer digits. Open `Other levels` of age, move the slider, and watch "
    "how many rows stay alone. Nothing is taken until you press the button.",
    "/limits": "Two questions decide how much risk is right: who gets the data, and what harm would a disclosure do? Leave the town to everybody at "
    "medium impact, and draw the limits. Each one names the guidance that it comes from.",
    "/look": "Move a few sliders until every limit is met, and see what that loses. Then press the button that finds the levels that lose least: "
    "the picture shows how few of all combinations had to be looked at.",
    "/run": "Recoding whole columns is one way; there are others that lose less. Start the run: each candidate is a release that is made, measured "
    "and held against the limits. You may close the page meanwhile.",
    "/map": "Every dot is a release: the lower, the less risk; the further to the left, the fewer errors for users, where a smaller number is better. "
    "Those on the line are beaten by no other. Compare two of them side by side.",
    "/compare": "Choose two candidates. You see what became of each column, whom each leaves most exposed, and what an intruder would find.",
    "/decide": "One sheet says what to publish, for whom, and what stays unprotected. Write the package: the release is measured again from the written "
    "file before it is named. The commands at the end do the same without this page.",
}
"""Where a word is said, and what."""
