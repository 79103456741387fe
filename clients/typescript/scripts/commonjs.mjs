// The folder that `require` reads says that its modules are CommonJS.
import { writeFileSync } from "node:fs";

writeFileSync(new URL("../dist/commonjs/package.json", import.meta.url), '{"type":"commonjs"}\n');
