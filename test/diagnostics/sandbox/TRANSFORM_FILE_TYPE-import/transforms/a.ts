import template from './page.html';
export default () => ({ message: template });
