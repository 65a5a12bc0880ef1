package measure

import (
	"encoding/json"
	"os"
)

// Save writes a result as JSON; no file is no error.
func Save(file string, result any) error {
	if file == "" {
		return nil
	}
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(text, '\n'), 0o644)
}
