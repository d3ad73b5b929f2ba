export { type Appended, AppenderService, type Event } from './appender.service.js';
export { MessagesModule } from './messages.module.js';
export { MessagesService, type RootTasks } from './messages.service.js';
