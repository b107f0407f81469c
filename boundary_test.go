package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/llxsandbox/llxsandbox/internal/config"
)

const module = "github.com/llxsandbox/llxsandbox"

// allowed are the imports of our own packages, layer by layer: nothing points back,
// and the systems never import one another.
var allowed = map[string][]string{
	"argv":            {},
	"platform":        {"argv"},
	"argv/oci":        {"argv", "platform"},
	"tunnel":          {"argv", "platform"},
	"internal/relay":  {},
	"internal/runner": {"argv"},
	"internal/config": {"argv", "argv/oci", "platform"},
	"internal/launch": {"argv", "argv/oci", "platform", "tunnel", "internal/config"},
	"":                {"argv", "platform", "internal/config", "internal/launch", "internal/relay", "internal/runner"},
	"golden":          {},
	"e2e":             {},
	"bench":           {},
}

// TestBoundary holds the architecture: who imports whom, that one package starts
// processes, and that the pure ones can reach neither system nor clock.
func TestBoundary(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	require.NoError(t, err)
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		pkg := strings.TrimPrefix(strings.TrimPrefix(words[0], module), "/")
		may, known := allowed[pkg]
		require.True(t, known, "%s: say in this test what it may import", pkg)
		seen++
		for _, imported := range words[1:] {
			if own, ok := strings.CutPrefix(imported, module+"/"); ok {
				require.Contains(t, may, own, "%s imports %s", pkg, own)
			}
			if imported == "os/exec" {
				require.Equal(t, "internal/runner", pkg, "only the runner starts processes")
			}
			pure := strings.HasPrefix(pkg, "argv") || pkg == "tunnel"
			if pure {
				require.NotContains(t, []string{"os", "net", "runtime", "time", "math/rand", "math/rand/v2", "crypto/rand", "os/exec", "syscall"}, imported, "%s is pure", pkg)
			}
			if pkg == "argv" {
				require.NotContains(t, imported, ".", "argv is a leaf")
			}
		}
	}
	require.GreaterOrEqual(t, seen, 8)
}

// TestPlatformIsAskedOnce holds that runtime.GOOS is read in platform.Gather alone.
func TestPlatformIsAskedOnce(t *testing.T) {
	found := map[string]int{}
	goFiles(t, func(path string, text []byte) {
		if n := strings.Count(string(text), "runtime.GOOS"); n > 0 && !strings.HasSuffix(path, "_test.go") {
			found[path] += n
		}
	})
	require.Equal(t, map[string]int{"platform/gather.go": 1}, found)
}

// TestSizes keeps files and functions small enough to be read in one go.
func TestSizes(t *testing.T) {
	goFiles(t, func(path string, text []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		lines := strings.Count(string(text), "\n")
		require.LessOrEqual(t, lines, 300, "%s has %d lines", path, lines)
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, text, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok {
				length := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
				require.LessOrEqual(t, length, 60, "%s: %s has %d lines", path, f.Name.Name, length)
			}
			return true
		})
	})
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	require.NoError(t, err)
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		require.NoError(t, err)
		require.True(t, strings.HasPrefix(string(text), "#"), "%s: the first line says what it proves", script)
		require.LessOrEqual(t, strings.Count(string(text), "\n"), 60, script)
	}
}

func goFiles(t *testing.T, visit func(path string, text []byte)) {
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		visit(path, text)
		return err
	}))
}

// TestReadmeListsEveryVariable compares the README's table with the code's.
func TestReadmeListsEveryVariable(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var want, got []string
	for _, v := range config.Variables {
		want = append(want, "| `"+v.Name+"` | "+v.Help+" |")
	}
	_, table, ok := strings.Cut(string(text), "<!-- variables -->\n")
	require.True(t, ok)
	table, _, ok = strings.Cut(table, "<!-- end of variables -->")
	require.True(t, ok)
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| `") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	require.Equal(t, want, got)
}

// TestEveryVariableIsDeclared holds that nothing reads the environment past the table.
func TestEveryVariableIsDeclared(t *testing.T) {
	var names []string
	for _, v := range config.Variables {
		names = append(names, v.Name)
	}
	reads := regexp.MustCompile(`(?:[gG]et|first|passed|env\.Get|getenv)\(((?:"[A-Za-z_]+"(?:,\s*)?)+)\)`)
	found := 0
	goFiles(t, func(path string, text []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		require.NotContains(t, string(text), "os.Getenv", path)
		require.NotContains(t, string(text), "os.LookupEnv", path)
		for _, match := range reads.FindAllSubmatch(text, -1) {
			for _, name := range regexp.MustCompile(`[A-Za-z_]+`).FindAllString(string(match[1]), -1) {
				found++
				require.True(t, slices.Contains(names, name), "%s reads %s, which is not in the table", path, name)
			}
		}
	})
	require.Greater(t, found, 20)
}
