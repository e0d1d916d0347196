import { afterAll } from 'vitest';
import { describeRoom } from '../support/diagnostic-cases.ts';
import * as sandbox from './sandbox.ts';

describeRoom('sandbox', sandbox);

afterAll(sandbox.stop);
