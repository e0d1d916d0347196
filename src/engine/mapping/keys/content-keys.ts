import * as z from 'zod';
import { namesMainSession, WAKE_MODES } from '../../../base/action.ts';
import type { Place } from '../../../base/document/document.ts';
import { say, type TextEdit } from '../../../base/finding.ts';
import { quote } from '../reporter.ts';
import { type KeyCompiling, keysOf, same, template } from './mapping-key.ts';

/** What a run reads, and in which conversation. */
export const contentKeys = keysOf({
  name: {
    about: 'Template: name of the hook for people; default Hook.',
    schema: z.string(),
    actions: ['agent', 'notify'],
    compile: template,
  },
  wakeMode: {
    about:
      'Whether the main session is asked for a turn at once (now) or hears of it at its periodic one (next-heartbeat); default hooks.defaults.wakeMode, else now.',
    schema: z.enum(WAKE_MODES),
    actions: ['agent', 'notify', 'wake'],
    compile: same,
    golden: (value, { kind }) => (kind === 'notify' ? undefined : value),
  },
  sessionKey: {
    about: 'Template: key of the conversation; default a random one for every run.',
    schema: z.string(),
    see: 'security.md#conversations',
    actions: ['agent'],
    compile: (_written, at) => {
      const key = at.template(['sessionKey']);
      if (key === undefined) return undefined;
      checkConversationOwner(at);
      if (at.behaviours.hasGatewaySessionKeys) checkKeyIsTaken(at, key);
      if (key.literal !== undefined) checkSessionKey(at, key.literal.trim());
      return key;
    },
    golden: (value, action) => (action.kind === 'agent' && action.oneShot ? 'hook:<uuid>' : value),
  },
  instructions: {
    about: 'Your own words to the agent, outside the safety boundary; no template.',
    schema: z.string(),
    see: 'security.md#the-safety-boundary',
    actions: ['agent'],
    compile: (written, { reporter }) => {
      if (written.includes('{{'))
        reporter.report(['instructions'], {
          code: 'INSTRUCTIONS_NOT_LITERAL',
          message: say`instructions are outside the safety boundary, so they cannot contain expressions ({{…}})`,
          hint: say`move what comes from the request into messageTemplate`,
        });
      return written;
    },
  },
  messageTemplate: {
    about: 'Template of what the agent, or with notify the people, read; for agent and notify mappings.',
    schema: z.string(),
    see: '#templates',
    actions: ['agent', 'notify'],
  },
  textTemplate: {
    about: "Template of the system event's text; for wake mappings.",
    schema: z.string(),
    see: '#templates',
    actions: ['wake'],
  },
});

/** A literal session key is one of the hooks' own: requests of the mapping would be refused otherwise. */
function checkSessionKey({ reporter, options, behaviours }: KeyCompiling, key: string): void {
  if (!namesMainSession(key)) return;
  const isLenient = options.lenient ?? behaviours.isLenient;
  reporter.report(['sessionKey'], {
    severity: isLenient ? 'warning' : 'error',
    code: 'MAIN_SESSION_KEY',
    message: say`${quote(key)} is the key of the main session, which hooks may not use${isLenient ? ', so "hook:" is put before it' : ''}`,
    hint: say`write a key such as hook:name; what tells the main session something is a wake`,
  });
}

/** Keys that an OpenClaw file does not allow: there, too, each request of the mapping is answered 400. */
function checkKeyIsTaken(
  { reporter, options }: KeyCompiling,
  { literal }: { readonly literal?: string },
): void {
  const { sessionKeys } = options;
  if (sessionKeys === undefined) return;
  const finding = { severity: 'warning', code: 'SESSION_KEY_REFUSED' } as const;
  const prefixes = sessionKeys.allowedPrefixes.map((prefix) => prefix.toLowerCase());
  const key = literal?.trim().toLowerCase();
  if (key === undefined && !sessionKeys.allowFromRequest)
    reporter.report(['sessionKey'], {
      ...finding,
      message: say`the session key is made of the payload, which this file does not allow, so requests of this mapping are answered 400`,
      hint: say`set hooks.allowRequestSessionKey: true, and hooks.allowedSessionKeyPrefixes, without which the gateway does not start`,
    });
  if (key !== undefined && prefixes.length > 0 && !prefixes.some((prefix) => key.startsWith(prefix)))
    reporter.report(['sessionKey'], {
      ...finding,
      message: say`the session key begins with none of hooks.allowedSessionKeyPrefixes, so requests of this mapping are answered 400`,
      hint: say`add its prefix, or choose another key`,
    });
}

/** A conversation belongs to its mapping, by the id: an id made from the position would lose it to a moved mapping. */
function checkConversationOwner({ source, reporter, behaviours, order }: KeyCompiling): void {
  if (source.id !== undefined || behaviours.sharesConversations || (source.action ?? 'agent') !== 'agent')
    return;
  const id = `mapping-${order + 1}`;
  reporter.report(
    ['sessionKey'],
    {
      code: 'SESSION_KEY_WITHOUT_ID',
      message: say`a mapping with a sessionKey needs an id: its conversations belong to the mapping of that id`,
      hint: say`add the line "id: ${id}": the id it has had so far, so conversations and dedupe keys stay`,
      editAt: (at) => keyBefore(at, `id: ${id}`),
    },
    'key',
  );
}

/** A key with its value before another key of the same object. */
function keyBefore(at: Place, text: string): TextEdit {
  const { source, start } = at;
  const lineStart = source.text.lastIndexOf('\n', start - 1) + 1;
  const before = source.text.slice(lineStart, start);
  const isBlock = /^\s*(?:- +)?$/.test(before);
  const isJson = source.text[start] === '"';
  const between = isBlock ? `\n${' '.repeat(before.length)}` : ', ';
  const written = isJson ? text.replace(/^(\w+): (.+)$/, '"$1": "$2"') : text;
  return { at: { source, start, end: start }, text: written + (isJson ? ', ' : between) };
}
