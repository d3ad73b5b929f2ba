export { disable, openToken, seedAgents } from './seeds.js';
export { startTestApi, type TestAgent, type TestApi, textMessage } from './test-api.js';
