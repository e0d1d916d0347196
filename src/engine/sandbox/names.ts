/** The one bare specifier a transform may import. */
export const VIRTUAL_MODULE = 'sluice';

/** Name under which a linked script leaves the entry's exports. */
export const LINKED_NAME = '__sluice_module';

/** Name under which a linked script finds the stand-ins for Node's modules. */
const NODE_MODULES_NAME = '__sluice_node';

/** What stands before a linked script inside its isolate; the script begins on the next line. */
export const SCRIPT_PREFIX = `((${NODE_MODULES_NAME}) => { 'use strict';\n`;

/** Modules of Node that a transform may import, as far as there are stand-ins for them (`isolate/realm.ts`). */
export const NODE_STAND_INS: Readonly<Record<string, readonly string[]>> = {
  crypto: ['createHash', 'createHmac', 'timingSafeEqual', 'randomBytes', 'randomUUID', 'getRandomValues'],
  buffer: ['Buffer'],
};

/** `crypto` for `crypto` and `node:crypto`; undefined where there is no stand-in. */
export function standInOf(specifier: string): string | undefined {
  const name = specifier.replace(/^node:/, '');
  return Object.hasOwn(NODE_STAND_INS, name) ? name : undefined;
}

/** Source of the module that stands for one of Node's. */
export function standInSource(name: string): string {
  const names = (NODE_STAND_INS[name] ?? []).join(', ');
  const held = `${NODE_MODULES_NAME}.${name}`;
  return `export const { ${names} } = ${held};\nexport default ${held};\n`;
}

/** File name of a linked script inside its isolate, by which its stack frames are known. */
export const MODULE_FILE = 'sluice-transform:module';

/** Globals of Node and of browsers, and members of some, that are not there. */
export const MISSING_GLOBALS: readonly string[] = [
  'fetch XMLHttpRequest WebSocket EventSource Request Response',
  'setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate',
  'queueMicrotask process global performance crypto.subtle __dirname __filename',
].flatMap((names) => names.split(' '));

export const STATUS = {
  ready: 0,
  ok: 1,
  undefined: 2,
  userError: 3,
  notJson: 4,
  tooLarge: 5,
  pending: 6,
  timeout: 7,
  memory: 8,
  loadError: 9,
  /** As `ok`, of an instance of a class. */
  instance: 10,
} as const;
export type Status = (typeof STATUS)[keyof typeof STATUS];
