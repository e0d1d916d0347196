import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { configJsonSchema } from '../../../engine/config/config.ts';
import { requestFileSchema } from '../../../authoring/golden/golden.ts';
import { mappingJsonSchema } from '../../../engine/mapping/facts.ts';
import { senderJsonSchema } from '../../../engine/senders/senders.ts';
import type { Cli } from '../command-line.ts';

export interface SchemasFlags {
  readonly check?: boolean;
  readonly dir: string;
}

/** Writes the editor schemas, or with `check` fails where a file differs from what the code says. */
export async function schemas(cli: Cli, flags: SchemasFlags): Promise<void> {
  if (flags.check !== true) await mkdir(resolve(cli.terminal.cwd, flags.dir), { recursive: true });
  const mapping = mappingJsonSchema();
  const files = {
    'sluice.schema.json': configJsonSchema(mapping),
    'mapping.schema.json': mapping,
    'sender.schema.json': senderJsonSchema(),
    'request.schema.json': z.toJSONSchema(requestFileSchema, { target: 'draft-07', io: 'input' }),
  };
  for (const [name, schema] of Object.entries(files)) {
    const shown = join(flags.dir, name);
    const file = resolve(cli.terminal.cwd, shown);
    const text = `${JSON.stringify(schema, null, 2)}\n`;
    if (flags.check !== true) {
      await writeFile(file, text);
      cli.terminal.out(shown);
    } else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
      cli.terminal.err(`${shown} is out of date; "sluice schemas" writes it`);
      cli.setExitCode(1);
    }
  }
}
