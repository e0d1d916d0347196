import * as z from 'zod';
import { conditionDefinitions } from './condition/condition-check.ts';
import { agentKeys } from './keys/agent-keys.ts';
import { conversationKeys } from './keys/conversation-keys.ts';
import { contentKeys } from './keys/content-keys.ts';
import { approvalKeys, deliveryKeys, outcomeKeys } from './keys/delivery-keys.ts';
import { pathKeys } from './keys/path-keys.ts';
import { paceKeys, retryKeys } from './keys/pace-keys.ts';
import { routingKeys, senderKeys } from './keys/routing-keys.ts';
import { startKeys } from './keys/start-keys.ts';
import type { MappingKey } from './keys/mapping-key.ts';

const KEYS = {
  ...routingKeys,
  ...contentKeys,
  ...deliveryKeys,
  ...agentKeys,
  ...conversationKeys,
  ...outcomeKeys,
  ...paceKeys,
  ...approvalKeys,
  ...retryKeys,
  ...senderKeys,
  ...startKeys,
  ...pathKeys,
};

/** Every key of a mapping, in the order in which they are printed. */
export const MAPPING_KEYS: ReadonlyMap<string, MappingKey> = new Map(Object.entries<MappingKey>(KEYS));

export type PathKey = keyof typeof pathKeys;
export const PATH_KEYS = Object.keys(pathKeys) as readonly PathKey[];

type MappingShape = { readonly [Key in keyof typeof KEYS]: z.ZodOptional<(typeof KEYS)[Key]['schema']> };

export const MappingSchema = z.strictObject(
  Object.fromEntries(
    [...MAPPING_KEYS].map(([key, { schema, about }]) => [key, schema.optional().describe(about)]),
  ) as unknown as MappingShape,
);
export type MappingSource = z.output<typeof MappingSchema>;

/** A mapping file: a list of mappings, an object that holds one, or one mapping. */
const MappingFileSchema = z.union([
  z.array(MappingSchema),
  z.strictObject({ mappings: z.array(MappingSchema) }),
  MappingSchema,
]);

/** JSON Schema (draft 7) of mapping files, for editors. */
export function mappingJsonSchema(): { readonly definitions: object } {
  return {
    ...z.toJSONSchema(MappingFileSchema, { target: 'draft-07', io: 'input' }),
    definitions: conditionDefinitions(),
  };
}
