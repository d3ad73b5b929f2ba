import { accountsSettings } from '@relayger/accounts';
import { kernelSettings, loadConfig, requireSharedKey } from '@relayger/kernel';

/** Every setting of the api, one zod shape a library. */
const settings = { ...kernelSettings, ...accountsSettings };

/** @throws ConfigError naming every bad variable */
export function apiConfig(env: Readonly<Record<string, string | undefined>>) {
  return loadConfig(settings, env, [requireSharedKey]);
}

export type ApiConfig = ReturnType<typeof apiConfig>;
