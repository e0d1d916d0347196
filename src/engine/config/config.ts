export type { AgentAccess, AgentKind } from './runner-schema.ts';
export { configJsonSchema } from './config-schema.ts';
export type { Behaviours } from './openclaw/behaviours.ts';
export { DEFAULT_CONFIG_FILES, loadConfig, type RemainingConfig } from './load-config.ts';
export { providerOf } from './models.ts';
export type { MailBlock } from './mail-schema.ts';
export { parseMailBlock } from './mail-schema.ts';
export type {
  GatewaySettings,
  HooksSettings,
  LoadedConfig,
  ProviderSettings,
  RunnerSettings,
  Settings,
  KeepRequests,
} from './settings.ts';
export { hooksAddress } from './settings.ts';
export { hideValues } from './hide-values.ts';
export { isOnPath } from './on-path.ts';
export { explainMissingPackages, findMissingPackages } from './optional-package.ts';
export { createReferenceReader, mappingReferences, type ReferenceReader } from './references.ts';
export { stateFolder } from './resolve-runners.ts';
export { readSecretFile } from './secret-file.ts';
export { sqliteUrl } from './storage-url.ts';
