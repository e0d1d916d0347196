/**
 * Writes the JSON Schemas of what people write, for editors; with `--check` it only says whether the files are as the code
 * says. What commands print and the HTTP interface are in `output-schema.ts` and `openapi.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { requestFileSchema } from '../../src/authoring/golden/golden.ts';
import { configJsonSchema } from '../../src/engine/config/config.ts';
import { mappingJsonSchema } from '../../src/engine/mapping/facts.ts';
import { senderJsonSchema } from '../../src/engine/senders/senders.ts';

const FOLDER = fileURLToPath(new URL('../../schemas/', import.meta.url));

const mapping = mappingJsonSchema();
const SCHEMAS = {
  sluice: ['Sluice configuration', configJsonSchema(mapping)],
  mapping: ['Sluice mapping file', mapping],
  sender: ['Sluice sender file', senderJsonSchema()],
  request: ['Sluice request file', z.toJSONSchema(requestFileSchema, { target: 'draft-07', io: 'input' })],
} as const;

for (const [name, [title, { $schema, ...schema }]] of Object.entries(SCHEMAS) as [
  string,
  [string, Schema],
][]) {
  const file = `${FOLDER}${name}.schema.json`;
  const text = `${JSON.stringify({ $schema, $id: `urn:sluice:schema:${name}`, title, ...schema }, null, 2)}\n`;
  if (!process.argv.includes('--check')) writeFileSync(file, text);
  else if (readFileSync(file, 'utf8') !== text) {
    console.error(`schemas/${name}.schema.json is out of date; "npm run schemas" writes it`);
    process.exitCode = 1;
  }
}

type Schema = Readonly<Record<string, unknown>>;
