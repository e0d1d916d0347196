import * as z from 'zod';
import { KEPT_KINDS } from './compiled-mapping.ts';
import { addressOrRange } from '../../base/document/document.ts';
import { BODY_FORMATS } from '../../base/payload/payload.ts';
import { ChallengeSettings, VerifySettings } from '../verify/verify.ts';

/** A whole number within bounds. */
export const whole = (min: number, max: number): z.ZodInt => z.int().min(min).max(max);

const AnswerSchema = z.strictObject({
  status: whole(200, 299).optional().describe('Default 200.'),
  body: z.string().max(65_536).describe('Literal text of the answer.'),
  contentType: z
    .string()
    .regex(/^[\w!#$&^.+-]{1,60}\/[\w!#$&^.+-]{1,60}(?:; ?charset=[\w-]{1,20})?$/, {
      error: 'must be a media type such as text/xml',
    })
    .optional()
    .describe('Default text/plain.'),
});

const RateSchema = z.strictObject({
  perMinute: z.number().positive().max(1_000_000).describe('Requests a minute in the long run.'),
  burst: whole(1, 1_000_000).optional().describe('Requests at once; default perMinute.'),
});

/** Keys of a mapping that hold for its whole path: they are needed before a mapping is chosen. */
export const pathSettingsShape = {
  verify: VerifySettings.optional().describe(
    'How the sender proves itself; stands in place of the hook token.',
  ),
  requireToken: z
    .boolean()
    .optional()
    .describe('Whether the hook token is required in addition to verify; default false.'),
  allowFrom: z
    .array(addressOrRange)
    .min(1)
    .max(1000)
    .optional()
    .describe('Addresses that may send; ranges as 10.0.0.0/8.'),
  bodyFormat: z
    .enum(BODY_FORMATS)
    .optional()
    .describe('What the body is; default json. A form may be urlencoded or in parts (multipart/form-data).'),
  lists: z
    .array(
      z.string().regex(/^[^.\s{}[\]"'|]+(?:\.[^.\s{}[\]"'|]+)*$/, {
        error: 'must be a path in the payload, such as order.item',
      }),
    )
    .min(1)
    .max(50)
    .optional()
    .describe(
      'Experimental: paths in the payload that are lists, also where the sender has one element there, or an empty one.',
    ),
  method: z.enum(['POST', 'GET']).optional().describe('Default POST; of a GET the query is the payload.'),
  challenge: ChallengeSettings.optional().describe(
    'Question of a provider that is answered without a proof.',
  ),
  answer: AnswerSchema.optional().describe('Answer to what was accepted, for senders that want their own.'),
  rate: RateSchema.optional().describe('Limit of proved requests.'),
  otherwise: z
    .enum(['reject', 'skip'])
    .optional()
    .describe(
      'The answer to a request that no mapping of the path takes: 404 (reject), or 204, and nothing is done (skip); default hooks.unmatched.',
    ),
  keepRequests: z
    .enum(KEPT_KINDS)
    .optional()
    .describe(
      'Experimental: which requests of the path are kept, in the words of storage.keepRequests.which, whatever that says.',
    ),
  maxBodyBytes: whole(1, 67_108_864)
    .optional()
    .describe('Bytes, for every mapping of the path; default hooks.maxBodyBytes.'),
} as const;

export type PathKey = keyof typeof pathSettingsShape;
