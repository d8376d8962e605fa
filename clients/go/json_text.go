package clew

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
)

// encodeJSON is a value as JSON text. What JSON cannot say (NaN, a function) is refused by the field.
func encodeJSON(value any, field string) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, invalid(StateInvalid, field, fmt.Sprintf("%v; give what encoding/json can write", err))
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// encodeObject is encodeJSON for what must be an object; nil is the empty one.
func encodeObject(value any, field string) ([]byte, error) {
	text, err := encodeJSON(value, field)
	if err != nil {
		return nil, err
	}
	if string(text) == "null" {
		return []byte("{}"), nil
	}
	if text[0] != '{' {
		return nil, invalid(StateInvalid, field, fmt.Sprintf("an object is due here, as of a map or a struct, not %T", value))
	}
	return text, nil
}

// decodeJSON reads a text into what the target points to. Numbers in an `any` keep their digits, as json.Number.
func decodeJSON(text []byte, target any) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode(target)
}

// checkText refuses a request with text in it that is not UTF-8, which gRPC could not send, by the field that has it.
func checkText(request proto.Message) error {
	return protorange.Range(request.ProtoReflect(), func(at protopath.Values) error {
		text, ok := at.Index(-1).Value.Interface().(string)
		if !ok || utf8.ValidString(text) {
			return nil
		}
		return invalid(ArgumentInvalid, strings.TrimPrefix(at.Path[1:].String(), "."), "text is UTF-8, and this is not")
	})
}
