export {
  type BrowserHeaders,
  browserOf,
  HUMAN_PASSWORD,
  registerHuman,
  signIn,
  type TestHuman,
} from './people.js';
export { disable, openToken, seedAgents } from './seeds.js';
export { startTestApi, type TestAgent, type TestApi, textMessage } from './test-api.js';
