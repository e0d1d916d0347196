import { defined } from '../../base/json.ts';
import type { KeepRequests } from '../../engine/config/config.ts';

interface KeptSettings {
  readonly which: NonNullable<KeepRequests['which']>;
  readonly count?: number;
  readonly bytes: number;
  readonly days?: number;
}

/** What `serve` keeps where nothing is written, and what it fills in beside `which: shapes`. */
const SHAPES: KeptSettings = { which: 'shapes', bytes: 64 * 1024 * 1024, days: 1 };
/** The defaults of a written setting without `which`, from before there were shapes. */
const WRITTEN: KeptSettings = { which: 'transforms', bytes: 16 * 1024 * 1024 };

/** The file wins over the command, and the command over the defaults. */
export function keptSettings(written: KeepRequests, ofCommand: KeepRequests = {}): KeptSettings {
  const isSilent = Object.keys(defined(written)).length === 0 || written.which === 'shapes';
  return { ...(isSilent ? SHAPES : WRITTEN), ...defined(ofCommand), ...defined(written) };
}
