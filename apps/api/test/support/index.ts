export { startTestApi, type TestAgent, type TestApi, textMessage } from './test-api.js';
