export type {
  AgentDefaults,
  GatewaySettings,
  HooksSettings,
  LoadedConfig,
  ProviderSettings,
  RunnerSettings,
  ServerSettings,
  Settings,
  StorageSettings,
} from './settings.ts';
