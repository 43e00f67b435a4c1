'use strict';
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
  const number = value => value == null ? '' : value.toLocaleString('en-US', {maximumFractionDigits: 3});
  const charts = [];

  function axes(left) {
    const common = {stroke: colour('quiet'), grid: {stroke: colour('line'), width: 1}, ticks: {stroke: colour('line')}};
    return [common, Object.assign({}, common, {
      label: left, size: 64, labelSize: 20,
      values: (chart, ticks) => ticks.map(tick => tick == null ? '' : number(tick))
    })];
  }

  function line(label, name, more) {
    return Object.assign({label: label, stroke: colour(name), width: 2, points: {show: false},
      value: (chart, value) => number(value)}, more);
  }

  function draw(id, values, options) {
    const target = document.getElementById(id);
    if (!target || !values[0].length) {
      return null;
    }
    const build = () => {
      target.textContent = '';
      const width = target.clientWidth;
      return new uPlot(Object.assign({width: width, height: Math.max(180, Math.min(280, width * 0.45)),
        cursor: {drag: {x: false, y: false}}}, options()), values, target);
    };
    const chart = {current: build(), target: target, build: build};
    charts.push(chart);
    return chart;
  }

  function redraw() {
    for (const chart of charts) {
      chart.current.destroy();
      chart.current = chart.build();
    }
  }

  const stepped = uPlot.paths.stepped({align: 1});

  function clock(seconds, step, whole) {
    const text = new Date(seconds * 1e3).toISOString();
    if (whole) {
      return text.slice(0, 19).replace('T', ' ');
    }
    return step >= 86400 ? text.slice(5, 10) : step >= 60 ? text.slice(11, 16) : text.slice(11, 19);
  }

  function series(id, of) {
    draw(id, [of.times, of.admitted, of.refused], () => ({
      tzDate: seconds => uPlot.tzDate(new Date(seconds * 1e3), 'Etc/UTC'),
      axes: axes('requests each ' + of.width).map((axis, at) => at ? axis : Object.assign(axis, {
        space: 70, values: (chart, ticks, axisAt, space, step) => ticks.map(tick => clock(tick, step))
      })),
      scales: {y: {range: (chart, min, max) => [0, Math.max(1, max * 1.05)]}},
      series: [{label: 'UTC', value: (chart, value) => value == null ? '' : clock(value, 0, true)},
        line('admitted', 'admitted', {paths: stepped}), line('refused', 'refused', {paths: stepped})]
    }));
  }

  function demand(id, of) {
    const mark = of.limit;
    draw(id, [of.upTo, of.keys], () => ({
      axes: axes('keys'),
      scales: {x: {time: false, distr: 3}, y: {range: (chart, min, max) => [0, Math.max(1, max * 1.05)]}},
      series: [{label: 'permits in a period, up to', value: (chart, value) => number(value)},
        line('keys', 'admitted', {paths: uPlot.paths.bars({size: [0.8, 60]}), fill: colour('admitted') + '55'})],
      hooks: {draw: [chart => vertical(chart, mark, 'refused')]}
    }));
  }

  function vertical(chart, at, name) {
    const left = chart.valToPos(at, 'x', true);
    if (left < chart.bbox.left || left > chart.bbox.left + chart.bbox.width) {
      return;
    }
    const context = chart.ctx;
    context.save();
    context.strokeStyle = colour(name);
    context.lineWidth = 2 * devicePixelRatio;
    context.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    context.beginPath();
    context.moveTo(left, chart.bbox.top);
    context.lineTo(left, chart.bbox.top + chart.bbox.height);
    context.stroke();
    context.restore();
  }

  function curve(id, of) {
    let chosen = of.now;
    const chart = draw(id, [of.permits, of.touched, of.refused], () => ({
      axes: axes('share in %'),
      scales: {x: {time: false, distr: 3}, y: {range: (plot, min, max) => [0, Math.max(0.01, max * 1.05)]}},
      series: [{label: 'permits each period', value: (plot, value) => number(value)},
        line('keys refused', 'admitted', {points: {show: true}}),
        line('requests refused', 'refused', {points: {show: true}})],
      hooks: {draw: [plot => vertical(plot, of.permits[chosen], 'mark')]}
    }));
    const slider = document.getElementById(id + '-slider');
    if (!slider || !chart) {
      return;
    }
    const rows = document.querySelectorAll('#' + id + '-table tbody tr');
    const show = () => {
      chosen = Number(slider.value);
      document.getElementById(id + '-output').textContent = of.limits[chosen] + ': refuses ' + number(of.touched[chosen])
        + ' % of the keys and ' + number(of.refused[chosen]) + ' % of the requests, and admits at most '
        + number(of.peak[chosen]) + ' permits in a period';
      rows.forEach((row, at) => row.classList.toggle('chosen', at === chosen));
      chart.current.redraw(false);
    };
    slider.addEventListener('input', show);
    show();
  }

  series('all', data.series);
  data.policies.forEach((policy, at) => {
    series('series-' + at, policy.series);
    demand('demand-' + at, policy.demand);
    if (policy.curve) {
      curve('curve-' + at, policy.curve);
    }
  });

  let waiting = 0;
  addEventListener('resize', () => {
    clearTimeout(waiting);
    waiting = setTimeout(redraw, 150);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  matchMedia('print').addEventListener('change', redraw);
  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(one => { one.open = true; }));
})();
