package desk

// TellJoined has it told where drafts were joined with those of another terminal, as Start does.
func (d *Day) TellJoined(tell func(Result)) { d.Changes.Autosave.tell = tell }
