package embedded

// country is what the sample knows about one country.
type country struct {
	code, language  string
	women, men      []string
	lastNames       []string
	prefixes        []string // Of the last name; most have none.
	streets         []string
	cities          []city
	bank            string // Of no bank that exists.
	accountDigits   int
	mobile, landing string // Number prefixes in international format.
	mobileDigits    int
	landingDigits   int
}

// city is a place with the beginning of its postal codes.
type city struct{ name, zip string }

// firstNames are the names that one person may have.
func (c *country) firstNames(s *sampler) []string {
	if s.maybe(50) {
		return c.women
	}
	return c.men
}

var dutch = country{
	code: "NL", language: "nl",
	women: []string{
		"Anna", "Anneke", "Bregje", "Carla", "Daphne", "Eline", "Femke", "Fleur", "Geertje", "Hanneke", "Ilse", "Iris", "Jolanda", "Judith",
		"Karin", "Kim", "Lieke", "Lotte", "Maaike", "Marieke", "Naomi", "Noor", "Petra", "Roos", "Sanne", "Saskia", "Tess", "Truus", "Wilma", "Yvonne",
	},
	men: []string{
		"Arjen", "Bas", "Bram", "Cees", "Daan", "Dirk", "Erik", "Ferdi", "Frank", "Gijs", "Hans", "Henk", "Jaap", "Jan", "Jeroen", "Joost",
		"Kees", "Koen", "Lars", "Luuk", "Maarten", "Niels", "Olaf", "Pieter", "Rik", "Ruben", "Sjoerd", "Teun", "Willem", "Wouter",
	},
	lastNames: []string{
		"Bakker", "Beek", "Berg", "Boer", "Bos", "Brouwer", "Dekker", "Dijk", "Dijkstra", "Graaf", "Groot", "Haan", "Hendriks", "Hoekstra",
		"Jansen", "Jong", "Kok", "Koning", "Kuipers", "Leeuwen", "Linden", "Maas", "Meer", "Meijer", "Mulder", "Peters", "Postma", "Prins",
		"Schouten", "Smit", "Veenstra", "Vermeulen", "Visser", "Vliet", "Vos", "Vries", "Wal", "Willems", "Wit", "Zijlstra",
	},
	prefixes: []string{"van", "de", "van der", "van den", "van de", "ten", "ter"},
	streets: []string{
		"Dorpsstraat", "Kerkstraat", "Molenweg", "Beukenlaan", "Stationsweg", "Havenkade", "Lindenlaan", "Wilhelminastraat", "Nieuwe Markt",
		"Burgemeester de Vlugtlaan", "Schoolplein", "Zeedijk", "Prins Hendrikkade", "Vlierstraat", "Oude Gracht",
	},
	cities: []city{
		{"Amsterdam", "10"},
		{"Utrecht", "35"},
		{"Rotterdam", "30"},
		{"'s-Gravenhage", "25"},
		{"Groningen", "97"},
		{"Leeuwarden", "89"},
		{"Zwolle", "80"},
		{"Arnhem", "68"},
		{"Nijmegen", "65"},
		{"Eindhoven", "56"},
		{"Tilburg", "50"},
		{"Maastricht", "62"},
		{"Den Helder", "17"},
		{"Middelburg", "43"},
		{"Haarlem", "20"},
	},
	bank: "DEMO", accountDigits: 10,
	mobile: "+316", mobileDigits: 8, landing: "+3120", landingDigits: 7,
}

var german = country{
	code: "DE", language: "de",
	women: []string{
		"Andrea", "Anja", "Birgit", "Charlotte", "Claudia", "Doris", "Elke", "Emma", "Franziska", "Gisela", "Hanna", "Heike", "Ingrid", "Jana",
		"Johanna", "Katharina", "Lena", "Luise", "Mareike", "Monika", "Nadine", "Paula", "Renate", "Sabine", "Sophie", "Stefanie", "Ursula", "Ute",
	},
	men: []string{
		"Alexander", "Andreas", "Bernd", "Christian", "Daniel", "Dieter", "Elias", "Felix", "Florian", "Georg", "Günter", "Holger", "Jens", "Jörg",
		"Jürgen", "Karl", "Klaus", "Lukas", "Markus", "Matthias", "Moritz", "Oliver", "Paul", "Rainer", "Sebastian", "Stefan", "Thomas", "Uwe",
	},
	lastNames: []string{
		"Becker", "Braun", "Fischer", "Frank", "Günther", "Hartmann", "Hoffmann", "Huber", "Jäger", "Kaiser", "Keller", "Klein", "Koch", "Köhler",
		"König", "Kraus", "Krüger", "Lang", "Lehmann", "Maier", "Meyer", "Möller", "Müller", "Neumann", "Richter", "Schäfer", "Schmidt", "Schneider",
		"Scholz", "Schröder", "Schulz", "Schwarz", "Stein", "Vogel", "Wagner", "Walter", "Weber", "Weiß", "Wolf", "Zimmermann",
	},
	prefixes: []string{"von", "zu"},
	streets: []string{
		"Hauptstraße", "Bahnhofstraße", "Gartenweg", "Lindenallee", "Am Rheinufer", "Schulstraße", "Bergstraße", "Goethestraße", "Marktplatz",
		"Waldweg", "Rosenstraße", "Schillerstraße", "Mühlenweg", "Kirchgasse", "Ringstraße",
	},
	cities: []city{
		{"Köln", "506"},
		{"Düsseldorf", "402"},
		{"Bonn", "531"},
		{"Mainz", "551"},
		{"Koblenz", "560"},
		{"Karlsruhe", "761"},
		{"Mannheim", "681"},
		{"Freiburg im Breisgau", "790"},
		{"Heidelberg", "691"},
		{"Wiesbaden", "651"},
		{"Münster", "481"},
		{"Aachen", "520"},
	},
	bank: "99999999", accountDigits: 10,
	mobile: "+49151", mobileDigits: 8, landing: "+49221", landingDigits: 7,
}
