// Pack writes a module as a Go proxy serves it, so that a folder is all that a GOPROXY needs:
//
//	pack <folder of the module> <version> <folder of the proxy>
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("the folder of the module, its version and the folder of the proxy are due"))
	}
	fail(pack(os.Args[1], os.Args[2], os.Args[3]))
}

func pack(from, version, to string) error {
	manifest, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err != nil {
		return err
	}
	packed := module.Version{Path: modfile.ModulePath(manifest), Version: version}
	escaped, err := module.EscapePath(packed.Path)
	if err != nil {
		return err
	}
	folder := filepath.Join(to, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]string{"Version": version})
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": manifest} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o644); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(folder, version+".zip"))
	if err != nil {
		return err
	}
	if err := zip.CreateFromDir(archive, packed, from); err != nil {
		return err
	}
	return archive.Close()
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "pack:", err)
		os.Exit(1)
	}
}
