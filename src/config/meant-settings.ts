import { meantTimeZone, type SchemaAdvice } from '../document/document.ts';

/** How values of the configuration were meant that it does not take. */
const meantSetting: NonNullable<SchemaAdvice['value']> = (key, value) => {
  if (typeof value !== 'string') return undefined;
  if (key.endsWith('.timeZone')) {
    const zone = meantTimeZone(value);
    return zone === undefined ? undefined : { hint: `did you mean ${zone}?`, text: zone };
  }
  return /\.activeHours\.(?:from|to)$/.test(key) ? meantTime(value) : undefined;
};

/** `8:00`, `8` and `8pm` as `08:00` and `20:00`. */
function meantTime(written: string): ReturnType<NonNullable<SchemaAdvice['value']>> {
  const [, hour = '', minute = '00', half = ''] =
    /^(\d{1,2})(?:[:.h](\d{2}))?\s*([ap]m)?$/i.exec(written.trim()) ?? [];
  const plain = Number(hour) % (half === '' ? 25 : 12);
  const hours = half.toLowerCase() === 'pm' ? plain + 12 : plain;
  if (hour === '' || hours > 23 || Number(minute) > 59) return undefined;
  const time = `${String(hours).padStart(2, '0')}:${minute}`;
  return { hint: `write "${time}"`, text: `"${time}"` };
}

/** What is known of words and values of others in the configuration. */
export const CONFIG_ADVICE: SchemaAdvice = {
  value: meantSetting,
  keys: {
    'hooks.secret': {
      hint: 'the token that senders carry is hooks.token: token: ${NAME}; the secret of a sender that signs is verify.secrets of its mapping',
    },
    'hooks.secrets': { hint: 'the secret of a sender that signs is verify.secrets of its mapping' },
    'hooks.port': { hint: 'the port is server.port' },
    'hooks.host': { hint: 'the address to listen on is server.host' },
    port: { hint: 'the port is server.port' },
    host: { hint: 'the address to listen on is server.host' },
    token: { hint: 'the token that senders carry is hooks.token' },
    mappings: { hint: 'mappings stand in hooks.mappings, or in files of the folder hooks.mappingsDir' },
    runner: { hint: 'the runner is gateway.runner' },
    runners: { hint: 'runners are gateway.runners' },
    heartbeat: { hint: 'the heartbeat is gateway.heartbeat' },
    path: { hint: 'the path of hooks is hooks.path' },
    presets: { hint: 'presets are hooks.presets' },
    mail: { hint: 'the mailbox is hooks.mail' },
    database: { hint: 'the store is storage.url' },
    logging: { hint: 'the log is log.level and log.format' },
    models: { hint: 'the models that may be chosen are agents.defaults.models' },
    'hooks.timezone': {
      hint: 'a time zone is set at gateway.heartbeat.activeHours.timeZone, or in a template: {{date value tz="Europe/Berlin"}}',
    },
  },
};
