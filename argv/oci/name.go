package oci

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/llxsandbox/llxsandbox/argv"
)

// imageForm is the grammar of an image reference: a registry with an optional port,
// path components, a tag, a digest. It also admits a bare image id. Nothing that it
// admits can be taken for a flag.
var imageForm = regexp.MustCompile(`^` +
	`(?:(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::[0-9]+)?/)?` +
	`[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*)*` +
	`(?::([A-Za-z0-9_][A-Za-z0-9_.-]*))?` +
	`(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:([0-9a-fA-F]+))?$`)

// CheckImage reports an image name that no engine would accept.
func CheckImage(name string) error {
	// Lengths are checked apart: as counts in the pattern they would make it slow to compile.
	if m := imageForm.FindStringSubmatch(name); m != nil && len(name) <= 512 && len(m[1]) <= 128 && (m[2] == "" || len(m[2]) >= 32) {
		return nil
	}
	return &argv.Fatal{
		Text: fmt.Sprintf("%q is not a valid image name", name),
		Hint: "write [REGISTRY[:PORT]/]NAME[:TAG][@DIGEST] in lower case, such as ghcr.io/vybestack/llxprt-code/sandbox:latest",
	}
}

// maxName keeps NAME-N within the 63 characters of a host name.
const maxName = 56

// BaseName is the image's last path part with its tag joined by "-"; a digest is
// left out, and a registry's port is not a tag (defect 4).
func BaseName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	last := image[strings.LastIndex(image, "/")+1:]
	name := strings.ReplaceAll(last, ":", "-")
	if len(name) > maxName {
		name = strings.TrimRight(name[:maxName], "-._")
	}
	return name
}

// containerName returns BaseName-N with the smallest N for which no container has
// exactly that name (defect 25).
func containerName(image string, taken []string) (string, error) {
	if err := CheckImage(image); err != nil {
		return "", err
	}
	base := BaseName(image)
	for n := 0; ; n++ {
		if name := base + "-" + strconv.Itoa(n); !slices.Contains(taken, name) {
			return name, nil
		}
	}
}

// Contended tells whether any container has a name of the same family: then another
// launch may be choosing one at this moment.
func Contended(image string, containers []string) bool {
	prefix := BaseName(image) + "-"
	return slices.ContainsFunc(containers, func(name string) bool {
		number, ok := strings.CutPrefix(name, prefix)
		_, err := strconv.Atoi(number)
		return ok && err == nil
	})
}

// LocalImage is the name of the development image, which is built and never pulled.
const LocalImage = "llxprt-code-sandbox"

// IsLocal tells whether image is the development image, with any tag.
func IsLocal(image string) bool {
	name, _, _ := strings.Cut(image, ":")
	return name == LocalImage
}
