"""First and last names by region, and the research teams made of them."""

import unicodedata
from dataclasses import dataclass
from random import Random

_UNDECOMPOSED = str.maketrans({"ø": "o", "ł": "l", "ß": "ss", "ı": "i", "æ": "ae", "đ": "d"})

PEOPLE = (
    ("james robert susan karen david laura peter emily mark alice brian helen",
     "hartley whitcombe brennan aldridge fairbanks mercer thornton ashby kendrick prescott galloway lockwood"),
    ("jürgen stefan katrin ulrich anja dieter monika holger birgit matthias",
     "müller köhler brandt schäfer vogel lindner weiß kröger baumann richter zöllner haas"),
    ("josé maría carlos lucía andrés elena miguel pilar javier inés",
     "garcía fernández ibáñez morales quintero peña rosales castaño navarro vidal herrero muñoz"),
    ("rajiv anita sunil priya vikram meena arun kavita ramesh deepa",
     "krishnamurthy deshpande iyer banerjee chaudhuri nair subramanian mehrotra rao kulkarni sengupta joshi"),
    ("wei xiaoming jian li-hua yong mei hong qiang zhen bo",
     "zhang liu huang zhou xu lin guo tang shen luo cheng fang"),
    ("hiroshi kenji yuko takashi naoki emi satoshi akira",
     "tanabe morikawa ishida fujimoto okubo nishimura hayakawa matsuda kitazawa ueno"),
    ("giovanni paola marco lucia stefano chiara andrea enrico",
     "bertolini marchetti ferraro castelli rinaldi galli moretti vitale santoro deluca"),
    ("françois isabelle henri sylvie andré hélène didier benoît",
     "lefèvre moreau dubois gauthier rénier marchand bélanger fontaine charpentier tissot"),
    ("lars ingrid bjørn sofie magnus kirsten søren åsa",
     "lindqvist ødegård håkansson nørgaard sjöberg eklund dahl bergström rasmussen holmgren"),
    ("pavel zuzana tomasz agnieszka ivan milena jiří katarzyna",
     "novotný kowalczyk dvořák wiśniewski horváth petrović zieliński kučera sokolov jankovic"),
    ("nikos eleni yannis dimitra kostas sofia",
     "papadakis georgiou vasiliou karagiannis stavropoulos theodorou manolis kontos"),
    ("amir leila yossi noa mehmet ayşe omar dina",
     "rosenfeld ben-david shalev yılmaz öztürk farahani haddad mansour levi karimi"),
    ("min-ho ji-woo sung-jin hye-jin dong-hyun soo-yeon",
     "kim park choi jung kang yoon seo lim"),
)  # fmt: skip


@dataclass(frozen=True)
class Person:
    """An author; `middle` is one letter or empty."""

    first: str
    middle: str
    last: str

    @property
    def full(self) -> str:
        return f"{self.first} {self.middle}. {self.last}" if self.middle else f"{self.first} {self.last}"

    @property
    def initials(self) -> str:
        return "".join(part[0] for part in self.first.split("-")) + self.middle


def without_accents(text: str) -> str:
    """Plain ASCII letters, as many scrapers leave them."""
    decomposed = unicodedata.normalize("NFD", text.translate(_UNDECOMPOSED))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def make_people(rng: Random) -> list[Person]:
    """Every combination within a region, thinned, so that last names and initials recur as they do in life."""
    people = []
    for firsts, lasts in PEOPLE:
        pairs = [(first, last) for first in firsts.split() for last in lasts.split()]
        for first, last in rng.sample(pairs, len(pairs) * 2 // 3):
            middle = rng.choice("abcdehjklmprst") if rng.random() < 0.25 else ""
            people.append(Person(first, middle, last))
    rng.shuffle(people)
    return people


def make_teams(rng: Random, count: int) -> list[list[Person]]:
    """Groups of up to seven people who publish together; a last name occurs once in a group."""
    people = make_people(rng)
    teams = [people[start : start + 7] for start in range(0, count * 7, 7)]
    return [list({person.last: person for person in team}.values()) for team in teams if team]
