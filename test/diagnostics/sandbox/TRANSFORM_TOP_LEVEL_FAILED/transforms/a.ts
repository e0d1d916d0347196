const rules = JSON.parse('{"team": ');

export default () => ({ message: rules.team });
