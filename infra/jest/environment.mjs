import { TestEnvironment } from 'jest-environment-node';
import { refuseOutboundNetwork } from './refuse-network.mjs';

refuseOutboundNetwork();

/** Node's environment, plus what `@relayger/kernel/testing` has to know about the run and the file. */
export default class RelaygerEnvironment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    const server = JSON.parse(process.env.RELAYGER_TEST_SERVER);
    this.global.relaygerTest = { server, file: context.testPath, failed: false };
  }

  /** jest-circus events. A failed hook fails its tests too, but a failed afterAll comes only as hook_failure. */
  handleTestEvent(event) {
    const failed =
      event.name === 'hook_failure' || (event.name === 'test_done' && event.test.errors.length > 0);
    if (failed) this.global.relaygerTest.failed = true;
  }
}
