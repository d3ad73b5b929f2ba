import { accountsSettings } from '@relayger/accounts';
import { filesSettings } from '@relayger/files';
import { kernelSettings, loadConfig, requireSharedKey, requireWholeS3 } from '@relayger/kernel';
import { socketsSettings } from '@relayger/sockets';

/** Every setting of the api, one zod shape a library. */
const settings = {
  ...kernelSettings,
  ...accountsSettings,
  ...filesSettings,
  ...socketsSettings,
};

/** @throws ConfigError naming every bad variable */
export function apiConfig(env: Readonly<Record<string, string | undefined>>) {
  return loadConfig(settings, env, [requireSharedKey, requireWholeS3]);
}

export type ApiConfig = ReturnType<typeof apiConfig>;
