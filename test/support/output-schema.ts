/**
 * Writes `schemas/output.schema.json`, what commands print with `--json`, from the types in `src/frontends/cli/json.ts`; with
 * `--check` it only says whether the file is as they are. It refuses no field that is not in it: more may be added.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createGenerator } from 'ts-json-schema-generator';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FILE = `${ROOT}schemas/output.schema.json`;

const schema = createGenerator({
  path: `${ROOT}src/frontends/cli/json.ts`,
  tsconfig: `${ROOT}tsconfig.json`,
  type: 'Output',
  // `tsc` checks them; its version is another.
  skipTypeCheck: true,
  topRef: false,
  additionalProperties: true,
  functions: 'fail',
}).createSchema('Output');
const definitions = {
  ...schema.definitions,
  ExactNumber: { type: 'number', description: 'A number with all the digits that were sent.' },
};
const text = `${JSON.stringify({ $id: 'urn:sluice:schema:output', title: 'Output of sluice with --json', ...schema, definitions }, null, 2)}\n`;
if (!process.argv.includes('--check')) writeFileSync(FILE, text);
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error('schemas/output.schema.json is out of date; "npm run schemas" writes it');
  process.exitCode = 1;
}
