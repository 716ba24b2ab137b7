"""Conferences and journals of the sample bibliographies, with the many ways their names are written."""

from dataclasses import dataclass

from phrases import phrases


@dataclass(frozen=True)
class Venue:
    """A conference or journal: its short name, its long name, and how scrapers spell it ({yy} is the year)."""

    short: str
    long: str
    scraped: tuple[str, ...]
    fields: tuple[str, ...]
    first_year: int
    journal: bool = False


_DB, _ML, _IR, _SYS, _NET = ("databases",), ("learning",), ("retrieval",), ("systems",), ("networks",)

VENUES = (
    Venue("vldb", "very large data bases",
          phrases("""
              proc. vldb | int'l conf. on very large data bases | vldb '{yy}
              proc. of the vldb conf. | very large data bases
          """),
          _DB, 1975),
    Venue("sigmod conference", "international conference on management of data",
          phrases("""
              proc. acm sigmod | sigmod '{yy} | acm sigmod int'l conf. on management of data
              sigmod conf. | acm sigmod
          """),
          _DB, 1975),
    Venue("icde", "international conference on data engineering",
          phrases("""
              proc. icde | icde '{yy} | int'l conf. on data engineering
              ieee int. conf. data eng. | proc. int'l conf. data engineering
          """),
          _DB, 1984),
    Venue("edbt", "international conference on extending database technology",
          phrases("""
              proc. edbt | edbt '{yy} | int. conf. on extending database technology
              extending database tech.
          """),
          _DB, 1988),
    Venue("pods", "symposium on principles of database systems",
          phrases("""
              proc. pods | pods '{yy} | acm symp. on principles of database systems
              symp. principles of database sys.
          """),
          _DB, 1982),
    Venue("cikm", "international conference on information and knowledge management",
          phrases("""
              proc. cikm | cikm '{yy} | int'l conf. on information and knowledge management
              acm conf. info. and knowledge mgmt.
          """),
          _DB + _IR, 1992),
    Venue("kdd", "international conference on knowledge discovery and data mining",
          phrases("""
              proc. kdd | kdd '{yy} | acm sigkdd
              int. conf. on knowledge discovery and data mining | knowledge discovery & data mining
          """),
          _DB + _ML, 1995),
    Venue("icml", "international conference on machine learning",
          phrases("""
              proc. icml | icml '{yy} | int'l conf. on machine learning
              proc. int. conf. machine learning
          """),
          _ML, 1988),
    Venue("icdm", "ieee international conference on data mining",
          phrases("""
              proc. icdm | icdm '{yy} | ieee int'l conf. on data mining
              ieee conf. data mining
          """),
          _ML, 2001),
    Venue("sigir", "conference on research and development in information retrieval",
          phrases("""
              proc. sigir | sigir '{yy} | acm sigir
              acm sigir conf. on research and dev. in information retrieval
          """),
          _IR, 1978),
    Venue("www", "international world wide web conference",
          phrases("""
              proc. www | www '{yy} | int'l world wide web conf.
              www conference
          """),
          _IR + _NET, 1994),
    Venue("icdcs", "international conference on distributed computing systems",
          phrases("""
              proc. icdcs | icdcs '{yy} | ieee int'l conf. on distributed computing systems
              int. conf. distributed comp. sys.
          """),
          _SYS, 1979),
    Venue("usenix annual technical conference", "usenix annual technical conference",
          phrases("""
              usenix '{yy} | proc. usenix | usenix ann. tech. conf.
              usenix technical conf.
          """),
          _SYS, 1992),
    Venue("infocom", "ieee conference on computer communications",
          phrases("""
              proc. infocom | infocom '{yy} | ieee infocom
              proc. of ieee infocom
          """),
          _NET, 1982),
    Venue("mobicom", "international conference on mobile computing and networking",
          phrases("""
              proc. mobicom | mobicom '{yy} | acm mobicom
              int'l conf. on mobile computing and networking
          """),
          _NET, 1995),
    Venue("acm trans. database syst.", "acm transactions on database systems (tods)",
          phrases("""
              acm tods | tods | acm trans. on database sys.
              acm transactions on database systems | trans. database systems
          """),
          _DB, 1976, journal=True),
    Venue("vldb j.", "the vldb journal - the international journal on very large data bases",
          phrases("""
              vldb journal | the vldb journal | vldb jrnl.
              int'l journal on very large data bases
          """),
          _DB, 1992, journal=True),
    Venue("ieee trans. knowl. data eng.", "ieee transactions on knowledge and data engineering (tkde)",
          phrases("""
              ieee tkde | tkde | ieee trans. on knowledge and data eng.
              ieee transactions on knowledge and data engineering
          """),
          _DB + _ML, 1989, journal=True),
    Venue("inf. syst.", "information systems",
          phrases("""
              information systems | info. systems | inform. systems journal
          """),
          _DB + _IR, 1975, journal=True),
    Venue("machine learning", "machine learning",
          phrases("""
              machine learning journal | mach. learn. | machine learning
          """),
          _ML, 1986, journal=True),
    Venue("acm trans. inf. syst.", "acm transactions on information systems (tois)",
          phrases("""
              acm tois | tois | acm trans. on information sys.
              acm transactions on information systems
          """),
          _IR, 1983, journal=True),
    Venue("acm trans. comput. syst.", "acm transactions on computer systems (tocs)",
          phrases("""
              acm tocs | tocs | acm trans. on computer sys.
              acm transactions on computer systems
          """),
          _SYS, 1983, journal=True),
    Venue("ieee/acm trans. netw.", "ieee/acm transactions on networking (ton)",
          phrases("""
              ieee/acm ton | ieee/acm trans. on networking | ieee/acm transactions on networking
              trans. networking
          """),
          _NET, 1993, journal=True),
)  # fmt: skip
