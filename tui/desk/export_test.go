package desk

// TellJoined reports drafts that were joined with those of another terminal, like Start.
func (d *Day) TellJoined(tell func(Result)) { d.tellDrafts(tell) }
