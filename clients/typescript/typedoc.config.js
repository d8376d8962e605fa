import { readdirSync, readFileSync } from "node:fs";
import { OptionDefaults } from "typedoc";

// The stubs say with this tag what each part is generated from.
const GENERATED = "@generated";

const STUBS = new URL("src/gen/clew/v1/", import.meta.url);

/** What the stubs have no words for: how calls and one-ofs are told to the runtime. */
function undocumented() {
  const found = [];
  for (const file of readdirSync(STUBS)) {
    let owner = "";
    for (const line of readFileSync(new URL(file, STUBS), "utf8").split("\n")) {
      owner = /^export (?:type|const) (\w+)/.exec(line)?.[1] ?? owner;
      const member = /^ {2}(\w+): \{$/.exec(line)?.[1];
      if (member !== undefined) {
        const parts = owner.endsWith("Service") ? ["methodKind", "input", "output"] : ["case", "value"];
        found.push(...parts.map((part) => `v1.${owner}.__type.${member}.__type.${part}`));
      }
    }
  }
  return found;
}

/** @type {Partial<import("typedoc").TypeDocOptions>} */
export default {
  entryPoints: ["src/node.ts", "src/v1.ts"],
  name: "@clew/client",
  out: "docs",
  readme: "README.md",
  excludePrivate: true,
  excludeInternal: true,
  blockTags: [...OptionDefaults.blockTags, GENERATED],
  excludeTags: [...OptionDefaults.excludeTags, GENERATED],
  intentionallyNotDocumented: undocumented(),
  intentionallyNotExported: ["Status"],
  treatWarningsAsErrors: true,
  validation: { notExported: true, invalidLink: true, notDocumented: true },
};
