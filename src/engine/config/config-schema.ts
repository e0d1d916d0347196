import { defined } from '../../base/json.ts';
import * as z from 'zod';
import { gatewaySchema } from './gateway-schema.ts';
import { hooksSchema } from './hooks-schema.ts';
import { text } from './schema-values.ts';
import { consoleSchema, metricsSchema, serverSchema, storageSchema } from './server-schema.ts';

const agentsSchema = z.strictObject({
  defaults: z
    .strictObject({
      model: text.exactOptional().describe('Model of runs for which no other is chosen.'),
      models: z
        .array(text)
        .max(1000)
        .exactOptional()
        .describe('Models that a request or a mapping may choose; an empty list allows none.'),
      aliases: z.record(text, text).default({}).describe('Short names of models.'),
      timeoutSeconds: z
        .number()
        .gt(0)
        .default(600)
        .describe('Time limit of a run, in seconds, where the request or mapping gives none.'),
      maxTimeoutSeconds: z
        .number()
        .gt(0)
        .exactOptional()
        .describe(
          'The longest time limit of a run, in seconds: longer ones are cut to it. Default 3600, or timeoutSeconds where that is more.',
        ),
    })
    .prefault({})
    .describe('Defaults of every run.'),
});

const logSchema = z.strictObject({
  level: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('Lowest level that is logged.'),
  format: z
    .enum(['json', 'pretty'])
    .exactOptional()
    .describe('Form of the lines; default json for serve, pretty for dev.'),
});

/** The configuration file. Defaults that depend on other keys or on the file's place are filled in later. */
export const configSchema = z.strictObject({
  extends: text
    .exactOptional()
    .describe('An openclaw.json to build on; settings in this file win, and its mappings are tried first.'),
  $schema: z.string().exactOptional().describe('Address of this schema, for editors.'),
  hooks: hooksSchema.prefault({}).describe('The hook endpoints.'),
  server: serverSchema.prefault({}).describe('The listener.'),
  gateway: gatewaySchema.prefault({}).describe('What performs accepted hooks.'),
  agents: agentsSchema.prefault({}).describe('Models and limits of runs.'),
  channels: z
    .record(text, z.record(z.string(), z.unknown()))
    .default({})
    .describe('Settings of each channel: credentials, `to`, `baseUrl`.'),
  plugins: z.array(text).max(100).default([]).describe('Modules that add channels.'),
  storage: storageSchema.prefault({}).describe('Where accepted hooks are kept.'),
  metrics: metricsSchema
    .exactOptional()
    .describe('A separate listener for /metrics; without this block there is none.'),
  console: consoleSchema.prefault({}).describe('The web page that shows what came in and what became of it.'),
  log: logSchema.prefault({}).describe('The service log.'),
});

/** The file's content, checked, with the defaults that depend on nothing else. */
export type ConfigFile = z.output<typeof configSchema>;

/**
 * JSON Schema (draft-07) of the file, for editors; `mapping` is the schema of one entry of `hooks.mappings`.
 */
export function configJsonSchema(mapping?: object): object {
  const schema = z.toJSONSchema(configSchema, {
    target: 'draft-07',
    io: 'input',
    override: ({ jsonSchema }) => {
      allowReference(jsonSchema);
    },
  }) as { properties?: { hooks?: { properties?: { mappings?: { items?: object } } } } };
  const mappings = schema.properties?.hooks?.properties?.mappings;
  if (mappings === undefined || mapping === undefined) return schema;
  const { definitions, ...entry } = mapping as { readonly definitions?: object };
  mappings.items = entry;
  // What an entry refers to is looked for at the top of the file's schema.
  return { ...schema, ...(definitions && { definitions }) };
}

/** A number or boolean may come from the environment: its schema takes a text that is one reference, too. */
function allowReference(schema: z.core.JSONSchema.BaseSchema): void {
  const { type, description, default: fallback, ...bounds } = schema;
  if (type !== 'number' && type !== 'integer' && type !== 'boolean') return;
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, {
    ...defined({ description, default: fallback }),
    anyOf: [
      { type, ...bounds },
      { type: 'string', pattern: String.raw`^\$\{[A-Za-z_]` },
    ],
  });
}
