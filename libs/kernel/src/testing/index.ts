export { declaredStatements } from '../database/sql.js';
export { type ApiClient, type ApiReply, createApiClient, type Exchange } from './api-client.js';
export { type MailSink, type ReceivedMail, startMailSink } from './mail-sink.js';
export { type S3Server, startS3Server } from './s3-server.js';
export { createTestDatabase, type TestDatabase } from './test-database.js';
