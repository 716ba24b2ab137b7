"""The vocabulary of the two shops: invented brands and lines, and what each category of goods is described by."""

from dataclasses import dataclass

from phrases import phrases


@dataclass(frozen=True)
class Category:
    """One kind of goods. Each of `specs` is one property, its values separated by slashes, lowest first."""

    nouns: tuple[str, ...]
    specs: tuple[str, ...]
    features: tuple[str, ...]
    extras: tuple[str, ...]
    colours: tuple[str, ...]
    capacities: tuple[str, ...]
    low_price: int
    high_price: int


BRANDS = phrases("""
    takemi | norvik | lumaro | halden | oriston | veltra | kestrion | brauneck | sorley & finch | miyasato | dorelle
    pelagic | ferrante | quillon | arctisan | hexley | wolmark | zentari | caldera labs | ostrava | tinsley | okuda
""")

LINES = phrases("""
    strideline | clearview | aerolite | meridian | everlast | novaline | silverleaf | pulse | northline | momentum
    signature | essentials | horizon | vantage | easyshift | ultraline | polaris | domo | maestro | calypso
    cubix | lightline | artisan | panora | stratos | metro | duet | tempo | axiom | tribeca
    sonnet | halcyon | vivid | ember | freeform | corelink | airlight | brio | nimbus | keystone | encore | solo
    atlas | prisma | classic line | rapid | zenith plus | corona plus | linea | compass
""")

BODY = ("black", "silver", "red", "blue", "white")

CATEGORIES = (
    Category(
        nouns=("camcorder", "digital camcorder", "video camera"),
        specs=("20x optical zoom/25x optical zoom/40x optical zoom/60x optical zoom",
               "2.5-inch lcd/2.7-inch lcd/3-inch lcd", "30 gb hard drive/60 gb hard drive/80 gb hard drive"),
        features=phrases("""
            electronic image stabilization | built-in zoom microphone | one-touch dvd burning | face detection
            dolby digital recording | infrared night mode | usb 2.0 connection
        """),
        extras=("rechargeable battery pack", "carrying case", "wide conversion lens"),
        colours=BODY[:3], capacities=(), low_price=219, high_price=899,
    ),
    Category(
        nouns=("digital camera", "compact digital camera", "camera"),
        specs=("7.1 megapixels/8.1 megapixels/10.2 megapixels/12.1 megapixels",
               "3x optical zoom/4x optical zoom/5x optical zoom",
               "2.5-inch lcd/2.7-inch lcd/3-inch lcd"),
        features=phrases("""
            optical image stabilization | face priority autofocus | 23 scene modes | movie recording with sound
            smile shutter | sd memory card slot | red-eye correction
        """),
        extras=("leather case", "battery charger", "underwater housing"),
        colours=BODY, capacities=(), low_price=119, high_price=449,
    ),
    Category(
        nouns=("lcd hdtv", "flat panel lcd tv", "widescreen lcd television"),
        specs=("26-inch screen/32-inch screen/37-inch screen/42-inch screen/46-inch screen",
               "720p resolution/1080p resolution", "2 hdmi inputs/3 hdmi inputs/4 hdmi inputs"),
        features=phrases("""
            built-in atsc tuner | 120 hz motion smoothing | swivel stand | srs surround sound | energy saving mode
            pc input | 178-degree viewing angle
        """),
        extras=("tilting wall mount", "replacement remote control"),
        colours=("black", "white"), capacities=(), low_price=449, high_price=1899,
    ),
    Category(
        nouns=("in-ear headphones", "earphones", "stereo earbuds"),
        specs=("9 mm drivers/11 mm drivers/13.5 mm drivers", "3.9-foot cord/4-foot cord/5-foot cord",
               "100 mw power handling/200 mw power handling"),
        features=phrases("""
            three sizes of silicone tips | neodymium magnets | in-line volume control | gold-plated plug
            noise isolating fit | carrying pouch
        """),
        extras=("replacement ear tips", "extension cord"),
        colours=("black", "white", "pink", "blue"), capacities=(), low_price=19, high_price=129,
    ),
    Category(
        nouns=("portable media player", "mp3 player", "digital audio player"),
        specs=("1.8-inch color display/2.4-inch color display/3-inch color display",
               "18 hours of battery life/24 hours of battery life/36 hours of battery life"),
        features=phrases("""
            fm tuner with recording | mp3/wma/aac playback | voice recorder | five-band equalizer
            drag-and-drop transfer | photo viewer
        """),
        extras=("silicone skin", "car charger", "arm band"),
        colours=("black", "silver", "pink", "blue"), capacities=("2 gb", "4 gb", "8 gb", "16 gb"),
        low_price=49, high_price=249,
    ),
    Category(
        nouns=("portable hard drive", "external hard drive", "usb hard disk"),
        specs=("5400 rpm/7200 rpm", "8 mb cache/16 mb cache"),
        features=phrases("""
            usb powered | automatic backup software | shock-resistant housing | password protection
            mac/pc compatibility | fanless design
        """),
        extras=("neoprene sleeve", "usb power cable"),
        colours=("black", "silver", "red"), capacities=("160 gb", "250 gb", "320 gb", "500 gb"),
        low_price=69, high_price=219,
    ),
    Category(
        nouns=("laser printer", "monochrome laser printer", "network printer"),
        specs=("21 pages per minute/24 pages per minute/30 pages per minute/35 pages per minute",
               "150-sheet tray/250-sheet tray/500-sheet tray", "16 mb memory/32 mb memory/64 mb memory"),
        features=phrases("""
            automatic duplex printing | 1200 x 1200 dpi | manual feed slot | ethernet interface | toner save mode
            usb 2.0 interface
        """),
        extras=("black toner cartridge", "imaging drum", "500-sheet paper drawer"),
        colours=(), capacities=(), low_price=129, high_price=599,
    ),
    Category(
        nouns=("wireless router", "broadband router", "wi-fi router"),
        specs=("54 mbps/150 mbps/300 mbps", "1 lan port/4 lan ports/8 lan ports", "1 antenna/2 antennas/3 antennas"),
        features=phrases("""
            wpa2 encryption | push-button setup | parental controls | spi firewall | guest network | print server port
        """),
        extras=("range extender", "power adapter"),
        colours=(), capacities=(), low_price=39, high_price=179,
    ),
    Category(
        nouns=("gps navigator", "portable gps", "car navigation system"),
        specs=("3.5-inch touch screen/4.3-inch touch screen/5-inch touch screen",
               "1.5 million points of interest/3 million points of interest/6 million points of interest"),
        features=phrases("""
            text-to-speech directions | lane guidance | bluetooth hands-free calling | speed limit warnings
            preloaded north america maps | suction cup mount
        """),
        extras=("friction mount", "carrying case", "vehicle power cable"),
        colours=(), capacities=(), low_price=99, high_price=399,
    ),
    Category(
        nouns=("coffee maker", "drip coffeemaker", "programmable coffee maker"),
        specs=("4-cup carafe/8-cup carafe/10-cup carafe/12-cup carafe", "900 watts/1000 watts/1200 watts"),
        features=phrases("""
            24-hour programmable timer | pause-and-serve | gold-tone filter | automatic shutoff | removable water tank
            brew strength selector
        """),
        extras=("replacement glass carafe", "water filter set"),
        colours=("black", "white", "brushed steel", "red"), capacities=(), low_price=29, high_price=159,
    ),
    Category(
        nouns=("cordless phone", "cordless telephone", "expandable phone system"),
        specs=("1 handset/2 handsets/3 handsets/4 handsets", "1.9 ghz/2.4 ghz/5.8 ghz"),
        features=phrases("""
            digital answering machine | caller id with talking display | intercom | 50-name phone book | speakerphone
            lighted keypad
        """),
        extras=("additional handset", "replacement battery", "belt clip"),
        colours=("black", "silver", "white"), capacities=(), low_price=29, high_price=149,
    ),
    Category(
        nouns=("cordless drill", "drill/driver kit", "cordless drill driver"),
        specs=("12 volts/14.4 volts/18 volts", "280 in-lb torque/350 in-lb torque/450 in-lb torque",
               "1.3 ah battery/1.5 ah battery/2.4 ah battery"),
        features=phrases("""
            keyless chuck | two-speed gearbox | 17-position clutch | built-in work light | one-hour charger
            magnetic bit tray
        """),
        extras=("spare battery", "fast charger", "screwdriver bit set"),
        colours=(), capacities=(), low_price=49, high_price=229,
    ),
    Category(
        nouns=("microwave oven", "countertop microwave", "microwave"),
        specs=("0.7 cu. ft. interior/1.1 cu. ft. interior/1.6 cu. ft. interior/2.0 cu. ft. interior",
               "700 watts/1000 watts/1200 watts"),
        features=phrases("""
            sensor cooking | glass turntable | ten power levels | child lock | defrost by weight
            one-touch popcorn button
        """),
        extras=("27-inch trim kit", "turntable roller ring"),
        colours=("black", "white", "stainless steel"), capacities=(), low_price=69, high_price=299,
    ),
)  # fmt: skip
