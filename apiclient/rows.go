package apiclient

// Rows makes a row of each record of a page, one after the other: a page of decoded
// records takes several times the memory of its text.
func Rows[T, R any](records []Record[T], row func(T) R) ([]R, error) {
	rows := make([]R, 0, len(records))
	for _, r := range records {
		value, err := r.Decode()
		if err != nil {
			return nil, err
		}
		rows = append(rows, row(value))
	}
	return rows, nil
}
