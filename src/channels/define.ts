import { z } from 'zod';
import type { ChannelAdapter, ChannelModule, ChannelSettings, SettingsProblem } from './channel.ts';

/** A built-in channel: its settings as a zod schema, from which the rest of the module follows. */
export interface ChannelDefinition<Settings> {
  readonly id: string;
  readonly packages?: readonly string[];
  readonly schema: z.ZodType<Settings>;
  recipientProblem(to: string): string | undefined;
  open(settings: Settings): Promise<ChannelAdapter>;
}

const text = z.string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be text') });

/** A secret that goes into a header or a URL path: no white space, no control or separator characters. */
export const secretText = text
  .min(1, 'must not be empty')
  .max(4096, 'must have at most 4096 characters')
  .regex(/^[^\s\p{C}/?#]*$/u, 'must not contain white space, control characters, "/", "?" or "#"');

/** Text that YAML may read as a number, such as a phone number or an id. */
export const textOrNumber = z
  .union([z.string(), z.number().int().nonnegative()], {
    error: (issue) => (issue.input === undefined ? 'is required' : 'must be text'),
  })
  .transform((value) => String(value).trim())
  .pipe(z.string().min(1, 'must not be empty').max(1024, 'must have at most 1024 characters'));

const baseUrl = text
  .refine(isHttpUrl, 'must be an absolute http or https URL without query, credentials or fragment')
  .transform((url) => url.replace(/\/+$/, ''));

/** The keys every channel has: `baseUrl` in place of the platform's own address, and the default recipient `to`. */
export const commonShape = {
  baseUrl: baseUrl.optional(),
  to: z
    .union(
      [z.string(), z.number().refine(Number.isSafeInteger)],
      'must be text, in quotes where it has more digits than a number can hold',
    )
    .transform(String)
    .optional(),
} as const;

export function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return false;
  return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
}

/** Makes the module of a built-in channel. */
export function defineChannel<Settings extends { to?: string | undefined }>(
  definition: ChannelDefinition<Settings>,
): ChannelModule {
  const { id, packages, schema } = definition;
  return {
    id,
    ...(packages ? { packages } : {}),
    recipientProblem: (to) => definition.recipientProblem(to),
    settingsProblems: (settings) => {
      const problems =
        schema.safeParse(settings).error?.issues.flatMap((issue) => problemsOf(issue, schema)) ?? [];
      const { to } = settings;
      if (typeof to !== 'string' && typeof to !== 'number') return problems;
      const message = definition.recipientProblem(String(to));
      return message === undefined ? problems : [...problems, { key: 'to', message }];
    },
    open: async (settings: ChannelSettings) => {
      const parsed = schema.safeParse(settings);
      if (parsed.success) return definition.open(parsed.data);
      const [problem] = parsed.error.issues.flatMap((issue) => problemsOf(issue, schema));
      throw new Error(`channels.${id}.${problem?.key ?? ''}: ${problem?.message ?? 'is wrong'}`);
    },
  };
}

/** The findings behind a zod issue; one for each unknown key. */
function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType): readonly SettingsProblem[] {
  if (issue.code === 'unrecognized_keys') {
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const message = `is no setting of this channel; known are ${known.join(', ')}`;
    return issue.keys.map((key) => ({ key, message, known }));
  }
  return [{ key: issue.path.map(String).join('.'), message: issue.message }];
}
