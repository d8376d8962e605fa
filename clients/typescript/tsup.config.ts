import { defineConfig } from "tsup";

// One bundle an entry, for ESM and CommonJS, with types for both; what they share is shared.
export default defineConfig({
  entry: ["src/node.ts", "src/browser.ts", "src/v1.ts"],
  format: ["esm", "cjs"],
  target: "es2022",
  dts: true,
  clean: true,
  splitting: true,
  sourcemap: true,
});
