/** Secrets of paths that are missing, or are no secrets of their senders. */
import { quoted } from '../../finding.ts';
import { rule } from '../rule.ts';
import { secretHint } from '../vocabulary/secrets.ts';

export const SECRETS = [
  rule({
    on: 'VERIFY_SECRET',
    name: 'wrong-secret',
    confidence: 'certain',
    find: (facts) => facts,
    say: (facts) => quoted(secretHint(facts)),
  }),
];
