export { type FilesConfig, filesSettings } from './files.config.js';
export { FilesModule } from './files.module.js';
export { FilesService, type UseCheck } from './files.service.js';
