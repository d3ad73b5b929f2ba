export { AppenderService } from './appender.service.js';
export { toMessage } from './envelope.js';
export { FEED_BATCH, FeedService, type Inbox } from './feed.service.js';
export { MessagesModule } from './messages.module.js';
export { MessagesService } from './messages.service.js';
export { MESSAGE_COLUMNS, type MessageRow } from './sql/list-messages.js';
