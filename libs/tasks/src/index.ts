export type { TaskRecord } from './task-record.js';
export { TasksModule } from './tasks.module.js';
export { TasksService } from './tasks.service.js';
