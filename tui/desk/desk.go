// Package desk is the agent's day without a terminal: which call comes next, what speaks
// against ringing, what was typed, and what became of what was sent.
//
// Its structs are told what happened and answer with what to do. It must not know how any
// of that is shown or asked: no terminal, no keys but by their names, no flags.
//
//	codes, err := desk.OpenCodes(profile.ResultCodes, stateFile)
//	if codes.See("reached") {
//		err = codes.Save()()
//	}
package desk
