/** Every code this folder can report beside those of `document/`; each has a case under `test/diagnostics/`. */
export const CONFIG_CODES = [
  'CONFIG_NOT_FOUND',
  'MISSING_VARIABLE',
  'INVALID_REFERENCE',
  'SECRET_FILE_UNREADABLE',
  'TOKEN_REQUIRED',
  'TOKEN_REUSED',
  'HOOKS_DISABLED',
  'INVALID_HOOKS_PATH',
  'UNKNOWN_PRESET',
  'DIRECTORY_NOT_FOUND',
  'EXPOSED_LISTENER',
  'ECHO_RUNNER',
  'UNKNOWN_RUNNER',
  'DUPLICATE_RUNNER',
  'MODEL_NOT_SERVED',
  'ALIAS_CYCLE',
  'UNKNOWN_CHANNEL',
  'DUPLICATE_CHANNEL',
  'INVALID_STORAGE_URL',
  'INVALID_CALLBACK_SECRET',
  'IGNORED_SECTIONS',
  'IGNORED_HOOK_KEYS',
] as const;

export type ConfigCode = (typeof CONFIG_CODES)[number];
