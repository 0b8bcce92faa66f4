package profile

// Hours are when the donors of a country are called: spans of a day such as "09:00-21:00",
// "-" for a day without calls; "" is the default of that day.
type Hours struct {
	Weekday  string `toml:"weekday,omitempty" json:"weekday,omitempty"`
	Saturday string `toml:"saturday,omitempty" json:"saturday,omitempty"`
	Sunday   string `toml:"sunday,omitempty" json:"sunday,omitempty"`
}

// Result is a row of the results that an agent chooses from.
type Result struct {
	Code      string `toml:"code" json:"code"`
	Label     string `toml:"label,omitempty" json:"label,omitempty"`   // In plain words; "": the code's.
	Effect    string `toml:"effect,omitempty" json:"effect,omitempty"` // What comes with it; "" for nothing.
	AsksNotes bool   `toml:"asks_notes,omitzero" json:"asks_notes,omitempty"`
}
