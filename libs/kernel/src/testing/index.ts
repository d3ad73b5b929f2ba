export { type ApiClient, type ApiReply, createApiClient } from './api-client.js';
export { createTestDatabase, type TestDatabase } from './test-database.js';
