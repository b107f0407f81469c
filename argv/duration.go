package argv

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Duration is a length of time in milliseconds. It is written as "250ms" or "10s".
// A type of our own keeps this package free of clocks.
type Duration int64

// Units of Duration.
const (
	Millisecond Duration = 1
	Second      Duration = 1000
)

func (d Duration) String() string {
	if d != 0 && d%Second == 0 {
		return strconv.FormatInt(int64(d/Second), 10) + "s"
	}
	return strconv.FormatInt(int64(d), 10) + "ms"
}

// MarshalJSON writes the duration as text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	unit := Millisecond
	number, ok := strings.CutSuffix(text, "ms")
	if !ok {
		unit = Second
		if number, ok = strings.CutSuffix(text, "s"); !ok {
			return fmt.Errorf("duration %q has no unit: write it as 250ms or 10s", text)
		}
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 0 {
		return fmt.Errorf("duration %q is not a whole number of ms or s", text)
	}
	*d = Duration(n) * unit
	return nil
}
