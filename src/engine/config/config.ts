export type { AgentAccess, AgentKind } from './runner-schema.ts';
export { configJsonSchema } from './config-schema.ts';
export type { Behaviours } from './openclaw/behaviours.ts';
export { DEFAULT_CONFIG_FILES, loadConfig, type RemainingConfig } from './load-config.ts';
export { providerOf } from './models.ts';
export { type MailBlock, parseMailBlock } from './mail-schema.ts';
export {
  type GatewaySettings,
  type HooksSettings,
  type LoadedConfig,
  type ProviderSettings,
  type RunnerSettings,
  type Settings,
  type KeepRequests,
  hooksAddress,
} from './settings.ts';
export { hideValues } from './hide-values.ts';
export { isOnPath } from './on-path.ts';
export { explainMissingPackages, findMissingPackages } from './optional-package.ts';
export { createReferenceReader, mappingReferences, type ReferenceReader } from './references.ts';
export { stateFolder } from './resolve-runners.ts';
export { readSecretFile } from './secret-file.ts';
export { sqliteUrl } from './storage-url.ts';
